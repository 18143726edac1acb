/** How long and how hard a bench works. */
export type Effort = {
  /** A miniature takes seconds and tells nothing but that the bench works. */
  isMiniature: boolean
  rounds: number
  /** Of each measurement; whole ones, as pgbench counts. */
  seconds: number
  /** Callers at once. */
  clients: number
  /** That end at one instant. */
  grants: number
}

/** What a bench found: a table, and the sentences that belong to it. */
export type Measured = { columns: string[]; rows: string[][]; notes: string[] }

export type Bench = {
  /** One line for `--help`. */
  summary: string
  run(effort: Effort, say: (line: string) => void): Promise<Measured>
}
