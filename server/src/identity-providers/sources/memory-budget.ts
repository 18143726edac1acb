import { TargetError } from '../../provisioners/driver.ts'

/** The characters of ids that one reading may hold in memory at once. */
const maxCharacters = 64_000_000

/** Counts what a reading holds in memory. @throws TargetError when it is too much */
export function openMemoryBudget(): (characters: number) => void {
  let left = maxCharacters
  return (characters) => {
    left -= characters
    if (left >= 0) return
    const fix = 'let the account that reads it see fewer groups'
    throw new TargetError(
      'permanent',
      `the ids of the members of all groups are longer than ${maxCharacters} characters in all: ${fix}`,
    )
  }
}
