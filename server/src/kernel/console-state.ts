/** Where the console is: the folder of its build, or why there is none yet, or none at all, as a sentence for readers of the page. */
export type ConsoleState = { folder: string } | 'building' | { missing: string }
