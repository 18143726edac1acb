import type { Statement } from '../../kernel/context.ts'
import type { ConnectionTarget } from '../connect.ts'
import { Link } from './link.ts'
import { askClock, Paces } from './pace.ts'
import { NoConnection, Pool } from './pool.ts'

/** How the connections stand just now, and how many callers ever waited for one. */
export type Load = {
  /** Connections that are open. */
  open: number
  /** Batches and transactions under way. */
  busy: number
  /** Callers that wait for a connection. */
  waiting: number
  /** Callers that ever waited for one, and how many milliseconds they did altogether. */
  waited: number
  waited_ms: number
}

const tickMs = 1_000
/** 8 s at most: a server that is there cuts a statement short after 5. */
const mostOwingTicks = 7
const mostIdleTicks = 60

/**
 * Which connection a batch goes by. Statements that are proven quick, many callers' at once, share one connection. A
 * write holds one of its own, since each commit waits for the disk; so does whatever may be slow, that it delays nobody.
 */
export class Lanes {
  readonly #target: ConnectionTarget
  readonly #paces = new Paces()
  readonly #pool: Pool
  readonly #timer = setInterval(() => this.#tick(), tickMs).unref()
  #shared: Link | undefined
  #opening: Promise<Link> | undefined
  #waitingForShared = 0
  #isClosed = false

  /** Opens lazily: no connection is made before the first statement. `size`, at least 2, bounds how many there are. */
  constructor(target: ConnectionTarget, size: number) {
    if (size < 2) throw new RangeError('the doors need two connections at least: one to share, one to hold')
    this.#target = target
    this.#pool = new Pool({
      most: size - 1,
      mostLong: Math.ceil((size - 1) / 2),
      open: (onLost) => Link.open(target, onLost),
    })
  }

  /** One statement behind its opening, as one transaction; answers its rows. */
  async read(opening: readonly Statement[], statement: Statement): Promise<unknown[]> {
    const { isQuick, isMeasured } = this.#paces.ask(statement)
    const run = (link: Link) =>
      isMeasured ? this.#runMeasured(link, opening, statement) : runLast(link, [...opening, statement])
    return isQuick ? run(this.#shared ?? (await this.#openShared())) : this.#pool.use('long', run)
  }

  /** The statements behind their opening, as one transaction; answers the rows of each. */
  write(opening: readonly Statement[], statements: readonly Statement[]): Promise<unknown[][]> {
    return this.#pool.use('short', async (link) => {
      const answers = await link.run([...opening, ...statements])
      return answers.slice(opening.length)
    })
  }

  /** A connection for as long as the work takes. */
  hold<Result>(work: (link: Link) => Promise<Result>): Promise<Result> {
    return this.#pool.use('long', work)
  }

  load(): Load {
    const { links, held, waiting, waits } = this.#pool
    return {
      open: links.size + (this.#shared === undefined ? 0 : 1),
      busy: held + (this.#shared?.waiting ?? 0),
      waiting: waiting + this.#waitingForShared,
      waited: waits.count,
      waited_ms: waits.ms,
    }
  }

  /** Lets what is under way come to its end. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosed = true
    await this.#opening?.catch(() => undefined)
    const shared = this.#shared
    this.#shared = undefined
    await Promise.all([shared?.end(), this.#pool.close()])
  }

  async #runMeasured(link: Link, opening: readonly Statement[], statement: Statement): Promise<unknown[]> {
    // The first time includes its parsing and planning, and tells nothing.
    const isFirst = !link.knows(statement)
    const answers = await link.run([...opening, askClock, statement, askClock])
    const [before, rows = [], after] = answers.slice(opening.length) as [{ ms: number }[], unknown[], { ms: number }[]]
    if (!isFirst) this.#paces.note(statement, (after[0]?.ms ?? 0) - (before[0]?.ms ?? 0))
    return rows
  }

  /** All who come while it is being opened wait for the one. */
  async #openShared(): Promise<Link> {
    if (this.#isClosed) throw new NoConnection('the connections to the database are closed')
    this.#opening ??= Link.open(this.#target, (lost) => {
      if (this.#shared === lost) this.#shared = undefined
    })
      .then((link) => {
        if (!link.isLost) this.#shared = link
        return link
      })
      .finally(() => {
        this.#opening = undefined
      })
    this.#waitingForShared++
    try {
      return await this.#opening
    } finally {
      this.#waitingForShared--
    }
  }

  #tick(): void {
    this.#pool.tick(mostOwingTicks, mostIdleTicks)
    const shared = this.#shared
    if (shared === undefined || shared.tick(mostOwingTicks) <= mostIdleTicks) return
    this.#shared = undefined
    void shared.end()
  }
}

async function runLast(link: Link, statements: readonly Statement[]): Promise<unknown[]> {
  const answers = await link.run(statements)
  return answers[answers.length - 1] ?? []
}
