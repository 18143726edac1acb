import { Problem } from '../../kernel/errors.ts'
import { type FileStatement, placeInFile } from '../../policy-engine/cedar/file.ts'

/** A fault in a statement of a file, with the statement's number and the place in the file, all from 1. */
type FileFault = { statement: number; line: number; column: number; message: string; text?: string; help?: string }

export type FileFaults = {
  /** The result of `read` for the statement; undefined where it refuses the statement, and then the fault is collected. */
  attempt<Result>(number: number, statement: FileStatement, read: () => Result): Result | undefined
  add(number: number, statement: FileStatement, message: string, help: string): void
  /** @throws Problem `invalid_policy` with the collected faults */
  requireNone(): void
}

const maxFaults = 20

/** Collects the faults of a file, up to 20; the twentieth is thrown at once, with all others. */
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

/** `details` gives the first fault, as for a single statement; `faults` lists all that were found. */
function invalidFile(found: readonly FileFault[]): Problem {
  const faults = found.toSorted((a, b) => a.line - b.line || a.column - b.column)
  const { message = 'the file is not valid', ...first } = faults[0] ?? {}
  const text = `statement ${faults[0]?.statement}: ${message}`
  return new Problem('invalid_policy', text, { details: { field: 'cedar', ...first, faults } })
}
