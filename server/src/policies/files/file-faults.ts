import { Problem } from '../../kernel/errors.ts'
import { type FileStatement, placeInFile } from '../../policy-engine/cedar/file.ts'

/** Something wrong with a statement of a file: its number, and its place in the file, all from 1. */
type FileFault = { statement: number; line: number; column: number; message: string; text?: string; help?: string }

export type FileFaults = {
  /** What `read` makes of the statement; undefined where it refuses it, which is kept. */
  attempt<Result>(number: number, statement: FileStatement, read: () => Result): Result | undefined
  add(number: number, statement: FileStatement, message: string, help: string): void
  /** @throws Problem `invalid_policy` with what was found */
  requireNone(): void
}

const maxFaults = 20

/** Gathers what is wrong with a file, up to 20 faults; the last of them is thrown with the others at once. */
export function gatherFaults(file: string): FileFaults {
  const faults: FileFault[] = []
  const keep = (fault: FileFault) => {
    faults.push(fault)
    if (faults.length >= maxFaults) throw invalidFile(faults)
  }
  return {
    attempt(number, statement, read) {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'invalid_policy') throw error
        const { line, column, text = '', help } = error.details as Omit<FileFault, 'message'>
        const place = placeInFile(file, statement, { line, column })
        keep({ statement: number, ...place, message: error.message, text, ...(help !== undefined && { help }) })
        return undefined
      }
    },
    add(number, statement, message, help) {
      const place = placeInFile(file, statement, { line: 1, column: 1 })
      keep({ statement: number, ...place, message, help })
    },
    requireNone() {
      if (faults.length > 0) throw invalidFile(faults)
    },
  }
}

/** As for a single statement `details` tells the first fault; `faults` are all that were found. */
function invalidFile(found: readonly FileFault[]): Problem {
  const faults = found.toSorted((a, b) => a.line - b.line || a.column - b.column)
  const { message = 'the file is not valid', ...first } = faults[0] ?? {}
  const text = `statement ${faults[0]?.statement}: ${message}`
  return new Problem('invalid_policy', text, { details: { field: 'cedar', ...first, faults } })
}
