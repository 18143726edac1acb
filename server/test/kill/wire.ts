/** The parts of PostgreSQL's protocol that a proxy between a client and the server must understand. */

/** One message with its type and length. The first message of a connection has no type: ''. */
type Message = { type: string; bytes: Buffer }

/** A statement as it is sent for execution: its text, and the bound values. */
export type SentStatement = { text: string; values: readonly (string | null)[] }

/** Splits the bytes of one side into whole messages; `begins` for a client, whose first message has no type. */
export function messageCutter(begins: boolean): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0)
  let untyped = begins
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const messages: Message[] = []
    for (;;) {
      const head = untyped ? 0 : 1
      if (rest.length < head + 4) return messages
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return messages
      messages.push({ type: untyped ? '' : String.fromCharCode(rest[0] ?? 0), bytes: rest.subarray(0, end) })
      rest = rest.subarray(end)
      untyped = false
    }
  }
}

/** Such a message ends a client's batch: Sync, or a simple query. */
export function endsBatch({ type }: Message): boolean {
  return type === 'S' || type === 'Q'
}

/** Parse, Bind, Describe, Execute, Close: messages within a batch. */
export function isWithinBatch({ type }: Message): boolean {
  return 'PBDEC'.includes(type) && type !== ''
}

/** Follows one client: returns the statement that a message executes, if it executes one. */
export function statementReader(): (message: Message) => SentStatement | undefined {
  const prepared = new Map<string, string>()
  const portals = new Map<string, SentStatement>()
  return ({ type, bytes }) => {
    const field = fieldReader(bytes)
    if (type === 'P') prepared.set(field.text(), field.text())
    if (type === 'B') {
      const portal = field.text()
      const text = prepared.get(field.text()) ?? ''
      field.skip(field.int16() * 2)
      portals.set(portal, { text, values: Array.from({ length: field.int16() }, () => field.value()) })
    }
    if (type === 'E') return portals.get(field.text())
    return type === 'Q' ? { text: field.text(), values: [] } : undefined
  }
}

/** The result of a batch. */
export type BatchOutcome = {
  /** For each executed statement, the number of rows that it changed, or returned with a non-null first column. */
  rows: readonly number[]
  failed: boolean
  /** The batch is inside an open transaction: none of it is committed yet. */
  isOpen: boolean
}

/** Follows one server: returns a batch's result with the message that ends its answer. */
export function outcomeReader(): (message: Message) => BatchOutcome | undefined {
  let rows: number[] = []
  let failed = false
  let answered: number | undefined
  return ({ type, bytes }) => {
    if (type === 'D') answered = (answered ?? 0) + (bytes.readInt16BE(5) > 0 && bytes.readInt32BE(7) < 0 ? 0 : 1)
    if (type === 'C') rows.push(answered ?? (Number(fieldReader(bytes).text().split(' ').at(-1)) || 0))
    if (type === 'I') rows.push(0)
    if (type === 'C' || type === 'I' || type === 'E') answered = undefined
    if (type === 'E') failed = true
    if (type !== 'Z') return undefined
    const outcome = { rows, failed, isOpen: bytes.at(-1) !== 'I'.charCodeAt(0) }
    rows = []
    failed = false
    return outcome
  }
}

/** Reads the fields of a message in order, after its type and length. */
function fieldReader(bytes: Buffer) {
  let at = 5
  const int16 = () => {
    at += 2
    return bytes.readInt16BE(at - 2)
  }
  return {
    int16,
    skip(count: number) {
      at += count
    },
    text() {
      const end = bytes.indexOf(0, at)
      const text = bytes.toString('utf8', at, end)
      at = end + 1
      return text
    },
    /** A bound value; null for NULL. */
    value(): string | null {
      const length = bytes.readInt32BE(at)
      at += 4 + Math.max(length, 0)
      return length < 0 ? null : bytes.toString('utf8', at - length, at)
    },
  }
}
