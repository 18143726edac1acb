/** The duration and load of a bench. */
export type Effort = {
  /** A miniature takes seconds and only shows that the bench works. */
  isMiniature: boolean
  /** The growth of tables to ten million events as well. */
  isWhole: boolean
  rounds: number
  /** Of each measurement, in whole seconds, as pgbench counts. */
  seconds: number
  /** Concurrent callers. */
  clients: number
  /** Grants that end at one instant. */
  grants: number
}

/** The result of a bench: a table, and notes on it. */
export type Measured = { columns: string[]; rows: string[][]; notes: string[] }

export type Bench = {
  /** One line for `--help`. */
  summary: string
  run(effort: Effort, say: (line: string) => void): Promise<Measured>
}
