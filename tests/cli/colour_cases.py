# SPDX-License-Identifier: BSD-2-Clause
"""The page's colours, as they stand in its style sheet: text can be read on what it stands on, and what only a colour tells apart can be
told apart by those who see fewer of them."""
import itertools
import re

from harness import ROOT, add_case

# What lies side by side in pictures, without a word of its own on it.
PICTURE = ["band", "loss", "interrupt", "mark", "merged"]
TEXT = [(front, back) for front in ("text", "dim", "accent") for back in ("page", "side", "card", "well")] + \
    [("good", "good-back"), ("bad", "bad-back"), ("bad", "card"), ("good", "card")]
CONTRAST = 4.5  # WCAG 2, AA
DISTANCE = 12  # CIE 1976; 2.3 can just be seen

# What is left of linear red, green and blue (Machado, Oliveira and Fernandes 2009, severity 1).
SEEN = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def themes():
    """Each block of colours of the style sheet: light, dark by the system, dark by choice."""
    style = (ROOT / "web" / "style.css").read_text()
    blocks = [dict(re.findall(r"--([a-z-]+):\s*#([0-9a-f]{6})", block)) for block in re.findall(r"\{([^{}]*--page:[^{}]*)\}", style)]
    assert len(blocks) == 3 and blocks[1] == blocks[2], "light and twice the same dark"
    return {"light": blocks[0], "dark": blocks[1]}


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def lab(rgb):
    """CIE L*a*b* of linear red, green and blue, under daylight (D65)."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (sum(weight * part for weight, part in zip(row, rgb)) / white for row, white in zip(rows, (0.9505, 1, 1.089)))
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, matrix):
    seen = [lab([min(1, max(0, sum(weight * part for weight, part in zip(row, linear(colour))))) for row in matrix]) for colour in (one, other)]
    return sum((a - b) ** 2 for a, b in zip(*seen)) ** 0.5


def text_can_be_read(_):
    low = []
    for theme, colours in themes().items():
        for front, back in TEXT:
            bright, dark = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
            ratio = (bright + 0.05) / (dark + 0.05)
            if ratio < CONTRAST:
                low.append(f"{theme}: {front} on {back} {ratio:.2f}")
    assert not low, low


def pictures_need_no_red_and_green(_):
    near = []
    for theme, colours in themes().items():
        for eyes, matrix in SEEN.items():
            for one, other in itertools.combinations(PICTURE + ["card"], 2):
                apart = distance(colours[one], colours[other], matrix)
                if apart < DISTANCE:
                    near.append(f"{theme}, {eyes}: {one} and {other} {apart:.1f}")
    assert not near, near


add_case("colours_text_can_be_read", text_can_be_read)
add_case("colours_pictures_need_no_red_and_green", pictures_need_no_red_and_green)
