/** What PostgreSQL's protocol says, as far as a listener between a client and the server must understand it. */

/** One message as it came, with its type and length. The first of a connection has no type: ''. */
type Message = { type: string; bytes: Buffer }

/** A statement as it is sent to run: its text, and the values bound to it. */
export type SentStatement = { text: string; values: readonly (string | null)[] }

/** Cuts what one side says into whole messages; `begins` for a client, whose first message has no type. */
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

/** A client's messages up to one of these are one batch: Sync, or a simple query. */
export function endsBatch({ type }: Message): boolean {
  return type === 'S' || type === 'Q'
}

/** Parse, Bind, Describe, Execute, Close: they wait for the end of their batch. */
export function isWithinBatch({ type }: Message): boolean {
  return 'PBDEC'.includes(type) && type !== ''
}

/** Follows one client: answers the statement that a message runs, where it runs one. */
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

/** How a batch went. */
export type BatchOutcome = {
  /** How many rows each of its statements touched, or answered with a first column that is not null, as far as they ran. */
  rows: readonly number[]
  failed: boolean
  /** It stands in a transaction that somebody has begun and not ended: nothing of it is committed yet. */
  isOpen: boolean
}

/** Follows one server: answers how a batch went with the message that ends its answer. */
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

/** Reads the fields of a message one after another, past its type and length. */
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
    /** A bound value; null where it is null. */
    value(): string | null {
      const length = bytes.readInt32BE(at)
      at += 4 + Math.max(length, 0)
      return length < 0 ? null : bytes.toString('utf8', at - length, at)
    },
  }
}
