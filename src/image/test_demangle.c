/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as compilers make them, and as they were written. */
#include "check.h"

#include <string.h>

#include <trackway/demangle.h>
#include <trackway/version.h>

/* clang-format off */
static const struct {
    const char *name, *written;
} cases[] = {
    { "main", "main" },
    { "", "" },
    { "_", "_" },
    { "_Znot_a_name", "_Znot_a_name" },
    { "_ZL7throweriPi", "thrower(int, int*)" },
    { "_ZNK10__cxxabiv117__class_type_info9can_catchEPK", "_ZNK10__cxxabiv117__class_type_info9can_catchEPK" },
    { "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)" },
    { "_Z3fooi.part.0", "foo(int) [clone .part.0]" },
    /* Rust, the older form */
    { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
    { "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
      "<Test + 'static as foo::Bar<Test>>::bar" },
    { "_ZN4core3ops40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$17h0123456789abcdefE",
      "core::ops::call_once{{vtable.shim}}" },
    { "_ZN18a$u7e$b$u1f$c$u7f$17h0123456789abcdefE", "a~b$u1f$c$u7f$" }, /* nothing that a terminal obeys */
    { "_ZN3foo17h0123456789abcdezE", "foo::h0123456789abcdez" }, /* no hash */
    /* ... and the newer one */
    { "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
    { "_RNvMs0_NtCs5l0EXMQXRMU_21rustc_data_structures17obligation_forestINtB5_16ObligationForestNtNtNtCsiqmMnHe7Q7D_5trait6traits7fulfill23PendingPredicateObligationE22register_obligation_at", NULL },
};
/* clang-format on */

static void names_are_as_they_were_written(void **state)
{
    struct tw_demangler *demangler;
    const enum tw_status status = tw_demangler_new(&demangler, NULL, NULL);

    (void)state;
    if (status == TW_E_UNSUPPORTED) {
        CHECK(!strstr(tw_features(), "llvm"));
        CHECK_TEXT(tw_demangle(demangler, "_ZL7throweriPi"), "_ZL7throweriPi");
        return;
    }
    CHECK_EQ(status, TW_OK);
    for (size_t twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < LENGTH(cases); i++) {
            const char *got = tw_demangle(demangler, cases[i].name);

            CHECK_CASE(cases[i].name);
            if (cases[i].written)
                CHECK_TEXT(got, cases[i].written);
            else
                CHECK(got[0] != 0); /* whatever the library makes of it */
            if (strcmp(cases[i].name, got) == 0)
                CHECK(got == cases[i].name);
        }
    tw_demangler_free(demangler);
    tw_demangler_free(NULL);
}

/* Names of captures may be anything. */
static void no_name_does_harm(void **state)
{
    struct tw_demangler *demangler;
    uint64_t random = 7;
    char name[64];

    (void)state;
    if (tw_demangler_new(&demangler, NULL, NULL) != TW_OK)
        return;
    for (size_t i = 0; i < 2000; i++) {
        static const char letters[] = "NKSt0123456789EIvilPcRZ_$.hLTGuRC";
        const size_t size = i % (sizeof name - 3);

        memcpy(name, i & 1 ? "_Z" : "_R", 2);
        for (size_t k = 2; k < size + 2; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            name[k] = letters[(random >> 33) % (sizeof letters - 1)];
        }
        name[size + 2] = 0;
        CHECK(tw_demangle(demangler, name) != NULL);
    }
    tw_demangler_free(demangler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_as_they_were_written),
        cmocka_unit_test(no_name_does_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
