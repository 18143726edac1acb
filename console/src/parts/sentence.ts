/** A note of the service as a sentence. It marks what it quotes with backticks. A name that it begins with stays as it is. */
export function sentenceOf(note: string): string {
  const text = `${note.replaceAll(/`([^`]*)`/g, '“$1”')}.`
  return /^\w+:/.test(note) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
