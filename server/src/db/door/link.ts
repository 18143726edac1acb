import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Statement } from '../../kernel/context.ts'
import { type ConnectionTarget, clientOn, types } from '../connect.ts'
import { mustBePreparedAnew } from '../constraints.ts'
import { answers, MessageCutter, readFailure, readRow, readShape, type Shape } from './answer-reader.ts'
import { BatchWriter } from './batch-writer.ts'

/** A batch as it waits for its answer. */
type Batch = {
  readonly statements: readonly Statement[]
  /** The shape of each statement's rows: known when it was sent, or learnt just before them. */
  shapes: (Shape | undefined)[]
  /** The rows of the statements that are done, and of the one that is under way. */
  done: unknown[][]
  rows: unknown[]
  failure: Error | undefined
  /** It met a statement that the server had forgotten, and was sent once more. */
  isSecondTry: boolean
  resolve(answers: unknown[][]): void
  reject(error: Error): void
}

/** The connection is gone. What a write on it has done, nobody knows. */
class LinkLost extends Error {
  readonly code = '08006'
}

/** Prepared statements that one connection keeps: each costs the server some kilobytes. */
const mostStatements = 500
const noShape: Shape = { names: [], parsers: [] }

/**
 * One connection, and batches on it: each is the Bind and Execute of its statements between two Syncs, which PostgreSQL
 * runs as one atomic transaction. `pg` opens the connection; from then on the socket is read and written here. Batches are
 * sent without waiting for those before them, all of one turn of the event loop in one write. A statement is parsed, and
 * the shape of its rows learnt, once a connection.
 */
export class Link {
  /** Batches that were answered, or began on the idle connection, are signs of life: `tick` counts what comes between. */
  #quietTicks = 0
  #status = 'I'
  #lost: Error | undefined
  #isFlushDue = false
  #onQuiet: (() => void) | undefined
  readonly #sent: Batch[] = []
  readonly #known = new Map<string, Shape>()
  readonly #writer = new BatchWriter()
  readonly #client: pg.Client
  readonly #onLost: () => void

  /** Connects. @throws when nobody answers within 5 s, or the server refuses. */
  static open(target: ConnectionTarget, onLost: (link: Link) => void): Promise<Link> {
    const client = clientOn(target, 'sallyport')
    // What fails before it is open is told to the callback as well.
    client.on('error', () => undefined)
    return new Promise((resolve, reject) => {
      client.connect((error: Error | null | undefined) => {
        if (!error) return resolve(new Link(client, onLost))
        void client.end()
        reject(error)
      })
    })
  }

  private constructor(client: pg.Client, onLost: (link: Link) => void) {
    this.#client = client
    this.#onLost = () => onLost(this)
    const { stream } = client.connection
    const cutter = new MessageCutter((letter, bytes, at, end) => this.#hear(letter, bytes, at, end))
    stream.removeAllListeners('data')
    stream.on('data', (chunk: Buffer) => {
      try {
        cutter.push(chunk)
      } catch (error) {
        this.#lose(error as Error)
      }
    })
    client.on('error', (error) => this.#lose(error))
    client.once('end', () => this.#lose(new Error('the server closed it')))
  }

  /** How many batches wait for their answer. */
  get waiting(): number {
    return this.#sent.length
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** Whether an explicit transaction stands open, and whether it has failed. */
  get transaction(): 'none' | 'open' | 'failed' {
    return this.#status === 'I' ? 'none' : this.#status === 'T' ? 'open' : 'failed'
  }

  /** Whether the server has parsed it on this connection. */
  knows(statement: Statement): boolean {
    return this.#known.has(nameOf(statement.text))
  }

  /** Runs the statements as one transaction, or within the one that stands open; answers the rows of each. */
  run(statements: readonly Statement[]): Promise<unknown[][]> {
    return new Promise((resolve, reject) => {
      const fresh = { shapes: [], done: [], rows: [], failure: undefined, isSecondTry: false }
      this.#send({ statements, ...fresh, resolve, reject })
    })
  }

  /** Called from time to time; a connection that owes an answer for too long is given up. Answers for how many ticks it is quiet. */
  tick(most: number): number {
    this.#quietTicks++
    if (this.#sent.length > 0 && this.#quietTicks > most) this.destroy('it owed an answer for too long')
    return this.#quietTicks
  }

  /** Says good-bye once everything sent is answered. */
  async end(): Promise<void> {
    if (this.#sent.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve
      })
    }
    if (this.#lost === undefined) await this.#client.end()
  }

  /** Lets go of the connection; whoever waits for an answer is told that it is lost. */
  destroy(reason: string): void {
    this.#lose(new Error(reason))
  }

  #send(batch: Batch): void {
    if (this.#lost !== undefined) {
      batch.reject(lost(this.#lost))
      return
    }
    const { mark } = this.#writer
    try {
      batch.shapes = batch.statements.map((statement) => this.#write(statement))
      this.#writer.sync()
    } catch (error) {
      this.#writer.cut(mark)
      batch.reject(error as Error)
      return
    }
    if (this.#sent.push(batch) === 1) this.#quietTicks = 0
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    setImmediate(() => this.#flush())
  }

  #write({ text, values }: Statement): Shape | undefined {
    const name = nameOf(text)
    const shape = this.#known.get(name)
    if (shape === undefined) {
      // Closed first: another batch on its way may prepare it too, and a second Parse of one name is an error.
      this.#writer.close(name)
      this.#writer.prepare(name, text)
    }
    this.#writer.run(name, values)
    return shape
  }

  #flush(): void {
    this.#isFlushDue = false
    if (this.#lost === undefined) this.#client.connection.stream.write(this.#writer.take())
  }

  #hear(letter: number, bytes: Buffer, at: number, end: number): void {
    const batch = this.#sent[0]
    if (letter === answers.failure) this.#fail(batch, readFailure(bytes, at, end))
    // Notices and changed parameters may come at any time, and mean nothing here.
    else if (batch === undefined) return
    else if (letter === answers.row) this.#read(batch, bytes, at)
    else if (letter === answers.statementDone || letter === answers.emptyStatement) {
      batch.done.push(batch.rows)
      batch.rows = []
    } else if (letter === answers.shape) this.#learn(batch, readShape(bytes, at, types))
    else if (letter === answers.noShape) this.#learn(batch, noShape)
    else if (letter === answers.ready) this.#finish(batch, String.fromCharCode(bytes[at] as number))
    else if (letter === answers.copyIn) this.destroy('it waits for a copy, which no batch can send')
  }

  /** A value that cannot be read fails its batch, not the connection. */
  #read(batch: Batch, bytes: Buffer, at: number): void {
    try {
      batch.rows.push(readRow(bytes, at, batch.shapes[batch.done.length] ?? noShape))
    } catch (error) {
      batch.failure ??= error as Error
    }
  }

  #learn(batch: Batch, shape: Shape): void {
    const index = batch.done.length
    const statement = batch.statements[index]
    if (statement === undefined) return
    batch.shapes[index] = shape
    this.#known.set(nameOf(statement.text), shape)
    if (this.#known.size > mostStatements) this.#forgetOldest()
  }

  /** It goes with the next batch; those on their way come before it. */
  #forgetOldest(): void {
    const [oldest = ''] = this.#known.keys()
    this.#known.delete(oldest)
    this.#writer.close(oldest)
  }

  #fail(batch: Batch | undefined, { error, isLast }: ReturnType<typeof readFailure>): void {
    if (batch !== undefined) batch.failure ??= error
    if (isLast || batch === undefined) this.#lose(error)
  }

  #finish(batch: Batch, status: string): void {
    this.#quietTicks = 0
    this.#status = status
    this.#sent.shift()
    if (this.#sent.length === 0) this.#onQuiet?.()
    if (batch.failure === undefined) batch.resolve(batch.done)
    else if (!mustBePreparedAnew(batch.failure)) batch.reject(batch.failure)
    else this.#tryAgain(batch, batch.failure)
  }

  /** INVARIANT: an error came before the Sync, so nothing of the batch was committed, and even a write may be sent again. */
  #tryAgain(batch: Batch, failure: Error): void {
    this.#known.clear()
    // An explicit transaction has failed as a whole: whoever holds it must begin anew.
    if (batch.isSecondTry || this.#status !== 'I') batch.reject(failure)
    else this.#send({ ...batch, done: [], rows: [], failure: undefined, isSecondTry: true })
  }

  #lose(cause: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = cause
    const left = this.#sent.splice(0)
    for (const batch of left) batch.reject(batch.failure ?? lost(cause))
    this.#client.connection.stream.destroy()
    this.#onQuiet?.()
    this.#onLost()
  }
}

function lost(cause: Error): LinkLost {
  return new LinkLost(`the connection to the database is lost: ${cause.message}`, { cause })
}

const names = new Map<string, string>()
const mostNames = 5_000

function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= mostNames) names.clear()
  const name = `s_${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`
  names.set(text, name)
  return name
}
