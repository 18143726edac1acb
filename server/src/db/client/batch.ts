import { createHash } from 'node:crypto'
import pg from 'pg'
import { createLruCache } from '../../kernel/lru-cache.ts'
import { noRows, type PreparedStatements, type RowShape, readRow, shapeOf } from './prepared-statements.ts'

/** `rows`: the rows of each statement; they have no meaning if there is an error. */
export type OnSettled = (error: Error | null | undefined, rows: unknown[][]) => void

/** A statement as the client sends it, whatever its text. The tag `sql`, above the client, decides what a text may hold. */
export type WireStatement = { readonly text: string; readonly values: readonly unknown[] }

/** A value in the form in which `pg` sends it; the typings of `pg` leave it out. */
type WireValue = string | Buffer | null
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): WireValue } }).utils

/** A connection as a query of `pg` sees it: the typings of `pg` require an argument that it has dropped. */
type Wire = Pick<pg.Connection, 'stream' | 'sync' | 'once' | 'off'> & {
  parse(statement: { name: string; text: string }): void
  bind(portal: { statement: string; values: readonly WireValue[] }): void
  describe(target: { type: 'P' }): void
  execute(): void
  close(target: { type: 'S'; name: string }): void
}

/** A query of `pg` as its subclass needs it: the typings of `pg` leave out the callback that settles it. */
type CallbackQuery = { callback: OnSettled }
const Query = pg.Query as unknown as new (text: string, values: undefined, callback: OnSettled) => CallbackQuery

/**
 * Several prepared statements and one Sync: PostgreSQL runs them as one atomic transaction, in one round trip. `pg` itself sends
 * a Sync after each statement and requests the shape of its rows each time; this query does neither.
 */
export class Batch extends Query {
  readonly #statements: readonly WireStatement[]
  readonly #values: readonly WireValue[][]
  readonly #prepared: PreparedStatements
  /** The shape of each statement's rows: known when the batch is sent, or received just before the rows. */
  #shapes: (RowShape | undefined)[] = []
  #done: unknown[][] = []
  #rows: unknown[] = []
  #failure: Error | undefined

  /** @throws the error of a value that cannot be sent; then nothing of the batch is sent. */
  constructor(statements: readonly WireStatement[], prepared: PreparedStatements, callback: OnSettled) {
    super('', undefined, callback)
    this.#statements = statements
    this.#values = statements.map(({ values }) => values.map(prepareValue))
    this.#prepared = prepared
  }

  /** The server's error, or that of a value that cannot be read. Undefined in a failed batch: the connection is lost. */
  get failure(): Error | undefined {
    return this.#failure
  }

  submit(connection: pg.Connection): null {
    const wire = connection as unknown as Wire
    for (const name of this.#prepared.takeEvicted()) wire.close({ type: 'S', name })
    this.#shapes = this.#statements.map(({ text }, index) => {
      const name = nameOf(text)
      const shape = this.#prepared.shapeOf(name)
      if (shape === undefined) {
        // Another batch in flight may prepare it too, and a second Parse of one name is an error.
        wire.close({ type: 'S', name })
        wire.parse({ name, text })
      }
      wire.bind({ statement: name, values: this.#values[index] ?? [] })
      if (shape === undefined) wire.describe({ type: 'P' })
      wire.execute()
      return shape
    })
    wire.sync()
    return null
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#learn(shapeOf(fields))
  }

  /** A value that cannot be read fails its batch, not the connection. */
  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      this.#rows.push(readRow(fields, this.#shapes[this.#done.length] ?? noRows))
    } catch (error) {
      this.#failure ??= error as Error
    }
  }

  handleCommandComplete(): void {
    // `pg` does not say that a statement has no rows.
    if (this.#shapes[this.#done.length] === undefined) this.#learn(noRows)
    this.#done.push(this.#rows)
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#done)
  }

  /** A server error settles the batch only at the Sync: before it, the connection does not know whether a transaction failed. */
  handleError(error: Error, wire: Wire): void {
    if (!(error instanceof pg.DatabaseError)) {
      this.callback(error, [])
      return
    }
    this.#failure = error
    this.#forgetClosed()
    const settle = () => {
      wire.off('readyForQuery', settle)
      wire.off('end', settle)
      this.callback(error, [])
    }
    wire.once('readyForQuery', settle)
    wire.once('end', settle)
  }

  /** In a transaction that has failed, the server closes a statement and does not prepare it again, though another batch had. */
  #forgetClosed(): void {
    for (const [index, { text }] of this.#statements.entries()) {
      if (this.#shapes[index] === undefined) this.#prepared.forget(nameOf(text))
    }
  }

  /** During a copy the server ignores the Sync that was sent with the batch, so the connection cannot recover. */
  handleCopyInResponse(wire: Wire): void {
    wire.stream.destroy(new Error('a batch cannot send a copy'))
  }

  #learn(shape: RowShape): void {
    const index = this.#done.length
    const statement = this.#statements[index]
    if (statement === undefined) return
    this.#shapes[index] = shape
    this.#prepared.add(nameOf(statement.text), shape)
  }
}

const names = createLruCache<string>(2_500)

/** The name under which a connection prepares a statement. */
export function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `s_${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`
  names.set(text, name)
  return name
}
