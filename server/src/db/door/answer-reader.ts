import pg from 'pg'

/** The columns of a statement's rows, and how the text of each becomes a value. */
export type Shape = { readonly names: readonly string[]; readonly parsers: readonly ((text: string) => unknown)[] }

/** The letters of the server's messages that mean something to a batch. */
export const answers = {
  row: 0x44,
  shape: 0x54,
  noShape: 0x6e,
  statementDone: 0x43,
  emptyStatement: 0x49,
  failure: 0x45,
  ready: 0x5a,
  copyIn: 0x47,
} as const

/** Told of each whole message: its letter, and where its body stands in the bytes. */
export type OnMessage = (letter: number, bytes: Buffer, at: number, end: number) => void

const headBytes = 5

/** Cuts what comes from the server into messages. */
export class MessageCutter {
  readonly #onMessage: OnMessage
  #held: Buffer[] = []
  #heldBytes = 0
  /** How many bytes the message that has begun needs before it is whole, as far as is known. */
  #needed = headBytes

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage
  }

  push(chunk: Buffer): void {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#needed) return
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held)
    const at = this.#cut(bytes)
    this.#held = at < bytes.length ? [bytes.subarray(at)] : []
    this.#heldBytes = bytes.length - at
  }

  /** Hands on every whole message; answers where the one begins that is not whole yet. */
  #cut(bytes: Buffer): number {
    let at = 0
    while (bytes.length - at >= headBytes) {
      const length = bytes.readInt32BE(at + 1)
      if (length < 4) throw new Error('what came is no message of PostgreSQL')
      const end = at + 1 + length
      if (end > bytes.length) {
        this.#needed = end - at
        return at
      }
      this.#onMessage(bytes[at] as number, bytes, at + headBytes, end)
      at = end
    }
    this.#needed = headBytes
    return at
  }
}

/** The shape of a statement's rows, from its description. */
export function readShape(bytes: Buffer, start: number, types: pg.CustomTypesConfig): Shape {
  const names: string[] = []
  const parsers: ((text: string) => unknown)[] = []
  let at = start + 2
  for (let left = bytes.readUInt16BE(start); left > 0; left--) {
    const end = bytes.indexOf(0, at)
    names.push(bytes.toString('utf8', at, end))
    // Behind the name: table (4 bytes), column (2), type (4), its size (2), its modifier (4), format (2).
    parsers.push(types.getTypeParser(bytes.readUInt32BE(end + 7), 'text'))
    at = end + 19
  }
  return { names, parsers }
}

/** One row. Of two columns with one name the last counts. */
export function readRow(bytes: Buffer, start: number, { names, parsers }: Shape): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  let at = start + 2
  for (let index = 0; index < names.length; index++) {
    const length = bytes.readInt32BE(at)
    at += 4
    const name = names[index] as string
    if (length < 0) {
      row[name] = null
    } else {
      row[name] = parsers[index]?.(bytes.toString('utf8', at, at + length))
      at += length
    }
  }
  return row
}

/** What went wrong, in the form that `pg` gives it. `isLast`: the server lets go of the connection. */
export function readFailure(bytes: Buffer, start: number, end: number): { error: pg.DatabaseError; isLast: boolean } {
  const said = new Map<string, string>()
  let at = start
  while (at < end && bytes[at] !== 0) {
    const stop = bytes.indexOf(0, at)
    said.set(String.fromCharCode(bytes[at] as number), bytes.toString('utf8', at + 1, stop))
    at = stop + 1
  }
  const error = new pg.DatabaseError(said.get('M') ?? 'the database refused without a word', end - start, 'error')
  const fields = { code: 'C', severity: 'S', detail: 'D', hint: 'H', position: 'P', where: 'W', routine: 'R' } as const
  const places = { schema: 's', table: 't', column: 'c', dataType: 'd', constraint: 'n' } as const
  for (const [field, letter] of Object.entries({ ...fields, ...places })) {
    if (said.has(letter)) Object.assign(error, { [field]: said.get(letter) })
  }
  return { error, isLast: ['FATAL', 'PANIC'].includes(said.get('V') ?? '') }
}
