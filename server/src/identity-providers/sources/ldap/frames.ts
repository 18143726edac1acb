import { lengthOfMessage } from './read-message.ts'

/** The longest message that is read, in bytes: a group of about 200,000 members. */
export const maxMessageBytes = 32 * 1024 * 1024

/** Enough for the head of any message. */
const headBytes = 6
/** The most chunks that are kept apart: a server may send each byte by itself. */
const maxChunks = 1_024

/** Cuts what arrives into messages. */
export type Frames = {
  /** The messages that are whole now. @throws Error for one that is malformed or too long */
  push(chunk: Buffer): Buffer[]
  /** Whether a part of a message is here. */
  isWithin(): boolean
}

/** Each byte is copied once or twice, however small the chunks are. */
export function openFrames(): Frames {
  let chunks: Buffer[] = []
  let bytes = 0

  const join = () => {
    const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    chunks = whole.length === 0 ? [] : [whole]
    return whole
  }

  /** The length of the first message; undefined while it is not known. */
  let length: number | undefined
  const measure = () => {
    const first = chunks[0]
    if (length !== undefined || first === undefined) return
    length = lengthOfMessage(first.length >= headBytes ? first : join())
    if (length !== undefined && length > maxMessageBytes) {
      throw new Error(`it sent a message of more than ${maxMessageBytes} bytes`)
    }
  }

  return {
    push(chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      const whole: Buffer[] = []
      if (chunks.length >= maxChunks) join()
      measure()
      if (length === undefined || bytes < length) return whole
      let rest = join()
      while (length !== undefined && rest.length >= length) {
        whole.push(rest.subarray(0, length))
        rest = rest.subarray(length)
        length = undefined
        chunks = rest.length === 0 ? [] : [rest]
        measure()
      }
      bytes = rest.length
      return whole
    },
    isWithin: () => bytes > 0,
  }
}
