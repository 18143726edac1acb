/** A sentence of the console around words that it quotes. */
export type Quoted = { before: string; quoted: string; after: string }

/**
 * Finds the words of the service in a sentence that quotes them; undefined where it says something else in their place. The sentence may
 * begin with them, and then has a capital letter where they have none.
 */
export function quotedIn(sentence: string, message: string): Quoted | undefined {
  const at = sentence.indexOf(message.slice(1)) - 1
  const quoted = sentence.slice(at, at + message.length)
  if (at < 0 || quoted.toLowerCase() !== message.toLowerCase()) return undefined
  return { before: sentence.slice(0, at), quoted, after: sentence.slice(at + message.length) }
}
