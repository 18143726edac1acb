import pg from 'pg'

/** How `pg` turns a value into what goes over the wire; its typings leave it out. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): string | Buffer | null } }).utils

const slabBytes = 16_384
/** Less than this at the end of a slab is not worth a batch. */
const leastBytes = 1_024

const [close, parse, describe, bind, execute, sync] = ['C', 'P', 'D', 'B', 'E', 'S'].map((letter) =>
  letter.charCodeAt(0),
) as [number, number, number, number, number, number]
const statementLetter = 'S'.charCodeAt(0)

/**
 * Writes batches as PostgreSQL reads them, one behind the other, until they are taken to be sent. What was taken is never
 * written to again: the socket may still hold it.
 */
export class BatchWriter {
  #slab = Buffer.allocUnsafe(slabBytes)
  #start = 0
  #at = 0

  /** Where the next message begins: `cut` takes back what was written from there. */
  get mark(): number {
    return this.#at - this.#start
  }

  cut(mark: number): void {
    this.#at = this.#start + mark
  }

  /** Everything since the last time. */
  take(): Buffer {
    const taken = this.#slab.subarray(this.#start, this.#at)
    this.#start = this.#at
    if (this.#slab.length - this.#at < leastBytes) {
      this.#slab = Buffer.allocUnsafe(slabBytes)
      this.#start = 0
      this.#at = 0
    }
    return taken
  }

  /** Forgets a statement of the server; one that it does not know is no error. */
  close(name: string): void {
    const message = this.#begin(close)
    this.#byte(statementLetter)
    this.#text(name)
    this.#end(message)
  }

  /** Prepares a statement, and asks for the shape of its rows. */
  prepare(name: string, text: string): void {
    const message = this.#begin(parse)
    this.#text(name)
    this.#text(text)
    this.#int16(0)
    this.#end(message)
    const question = this.#begin(describe)
    this.#byte(statementLetter)
    this.#text(name)
    this.#end(question)
  }

  /** Runs a prepared statement. @throws what a value throws that cannot be written. */
  run(name: string, values: readonly unknown[]): void {
    const message = this.#begin(bind)
    this.#byte(0)
    this.#text(name)
    const ready = values.map(prepareValue)
    if (ready.some((value) => value instanceof Buffer)) {
      this.#int16(ready.length)
      for (const value of ready) this.#int16(value instanceof Buffer ? 1 : 0)
    } else {
      this.#int16(0)
    }
    this.#int16(ready.length)
    for (const value of ready) this.#value(value)
    this.#int16(0)
    this.#end(message)
    const order = this.#begin(execute)
    this.#byte(0)
    this.#int32(0)
    this.#end(order)
  }

  /** The end of a batch: what came since the one before commits now, or nothing of it. */
  sync(): void {
    this.#end(this.#begin(sync))
  }

  #begin(letter: number): number {
    this.#reserve(5)
    this.#slab[this.#at] = letter
    this.#at += 5
    return this.mark
  }

  #end(message: number): void {
    const lengthAt = this.#start + message - 4
    this.#slab.writeInt32BE(this.#at - lengthAt, lengthAt)
  }

  #byte(value: number): void {
    this.#reserve(1)
    this.#slab[this.#at++] = value
  }

  #int16(value: number): void {
    this.#reserve(2)
    this.#at = this.#slab.writeUInt16BE(value, this.#at)
  }

  #int32(value: number): void {
    this.#reserve(4)
    this.#at = this.#slab.writeInt32BE(value, this.#at)
  }

  /** A text that ends with a zero byte. */
  #text(text: string): void {
    this.#reserve(text.length * 3 + 1)
    this.#at += this.#slab.write(text, this.#at, 'utf8')
    this.#slab[this.#at++] = 0
  }

  /** A value behind its length. */
  #value(value: string | Buffer | null): void {
    if (value === null) {
      this.#int32(-1)
      return
    }
    const isText = typeof value === 'string'
    this.#reserve(4 + (isText ? value.length * 3 : value.length))
    const from = this.#at + 4
    const length = isText ? this.#slab.write(value, from, 'utf8') : value.copy(this.#slab, from)
    this.#slab.writeInt32BE(length, this.#at)
    this.#at = from + length
  }

  #reserve(bytes: number): void {
    if (this.#slab.length - this.#at >= bytes) return
    const used = this.mark
    const larger = Buffer.allocUnsafe(Math.max(slabBytes, (used + bytes) * 2))
    this.#slab.copy(larger, 0, this.#start, this.#at)
    this.#slab = larger
    this.#start = 0
    this.#at = used
  }
}
