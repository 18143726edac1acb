/** The words of a text, without case and accents. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

/** Whether each word that is searched for begins a word of the text: as the service searches. */
export function matches(text: string, searched: string): boolean {
  const words = wordsOf(text)
  return wordsOf(searched).every((wanted) => words.some((word) => word.startsWith(wanted)))
}

/** The option that a key moves to: round at both ends. Undefined for a key that does not move. */
export function movedTo(active: number, count: number, key: string): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (active + 1) % count
  if (key === 'ArrowUp') return (active + count - 1) % count
  return undefined
}
