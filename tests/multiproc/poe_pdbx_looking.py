#!/usr/bin/env python3
"""pdbx: source lines and frames, and commands that are wrong."""

from debugging import PdbxTest
from launching import main

NESTED = r"""
#include <stdio.h>
static int inner(int n) {
    int twice = 2 * n;
    return twice;
}
static int outer(int n) {
    int sum = inner(n) + 1;
    return sum;
}
int main(int argc, char **argv) {
    int total = outer(argc) + !argv;
    printf("total %d\n", total);
    return 0;
}
"""


class Looking(PdbxTest):
    def pdbx_on(self, *commands, tasks=3):
        return self.pdbx(commands, self.build("nested.c", NESTED, "cc"), "-procs", tasks)

    def lines(self, said, command):
        """The numbers of the source lines of each answer to the command, which are the same on all tasks."""
        shown = []
        for report in said.of(command):
            self.assertEqual([answer["tasks"] for answer in report["answers"]], [[0, 1, 2]], said.text)
            numbers = [int(line.split()[0]) for line in report["answers"][0]["text"].splitlines()]
            shown.append((numbers[0], numbers[-1]))
        return shown

    def test_list_shows_the_lines_around_the_place_and_goes_on_from_there(self):
        said = self.pdbx_on("break inner", "cont", "list", "list", "frame 1", "list", "frame 2", "list -", "list -", "list 2", "list")
        self.assertEqual(self.lines(said, "list"), [(1, 8), (9, 15), (3, 12), (11, 15)], said.text)
        self.assertEqual(self.lines(said, "list -"), [(7, 15), (1, 6)], said.text)
        self.assertEqual(self.lines(said, "list 2"), [(1, 10)], said.text)

    def test_finish_and_until_refer_to_the_selected_frame(self):
        said = self.pdbx_on("break inner", "cont", "up", "finish", "print total")
        self.assertRegex(said.stops()[-1][1], r"returned 3, .*main \(?.*at nested.c:12", said.text)

    def test_a_refusal_is_one_answer_of_its_tasks(self):
        said = self.pdbx_on("finish", "until nowhere", "frame 9", "down", "next nowhere", tasks=5)
        for command, words in (("finish", "not meaningful in the outermost frame"), ("until nowhere", '"nowhere" not defined'),
                               ("frame 9", "there is no frame 9"), ("down", "frame 0 is the innermost one"),
                               ("next nowhere", 'No symbol "nowhere"')):
            answers = said.answers(command)
            self.assertEqual(list(answers.values()), [[0, 1, 2, 3, 4]], said.text)
            self.assertIn(words, list(answers)[0], said.text)

    def test_commands_of_gdb_that_know_other_numbers_of_breakpoints_are_refused(self):
        said = self.pdbx_on("break inner", "disable 1", "condition 1 n > 9", "tbreak outer", "clear inner", "brea outer", "breakpoints", "cont", "cont")
        for command in ("disable 1", "condition 1 n > 9", "tbreak outer", "clear inner"):
            self.assertIn("numbers of its own", said.of(command)[0]["error"], said.text)
        self.assertEqual(len(said.lines("breakpoints")), 2, said.text)
        self.assertIn("breakpoint 2, outer", said.stops()[1][1])
        self.assertIn("breakpoint 1, inner", said.stops()[2][1])

    def test_arguments_that_a_command_does_not_have_are_refused(self):
        said = self.pdbx_on("cont 3", "finish 1", "where 3", "tasks all", "why not", "tasks")
        for command, words in (("cont 3", "continue takes no argument"), ("finish 1", "finish takes no argument"),
                               ("where 3", "where has the forms"), ("tasks all", "tasks takes no argument"),
                               ("why not", "why takes no argument")):
            self.assertIn(words, said.of(command)[0]["error"], said.text)
        self.assertIn("main at nested.c:12", list(said.answers("tasks"))[0], said.text)  # nothing has moved


if __name__ == "__main__":
    main()
