import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import type { ConnectionTarget } from '../../src/db/client/connect.ts'

/** The way to a PostgreSQL, which a test can break. */
export type DatabaseLine = {
  target: ConnectionTarget
  /** The listening connections are open and say nothing from now on, new ones too: half-open. */
  hold(): void
  /** Whatever connection prepares this statement from now on hears nothing any more, though all that it says arrives. */
  muteFrom(statement: string): void
  /** Every connection is cut, and new ones are refused. */
  cut(): void
  /** Lets pass again what is new, and what was held. */
  mend(): void
}

/** Stands between a client and its PostgreSQL. It is gone when the file's tests are done. */
export async function openDatabaseLine(target: ConnectionTarget): Promise<DatabaseLine> {
  const { host = '', port = 5432 } = target
  const pairs = new Set<{ near: Socket; far: Socket; listens: boolean; isMute: boolean }>()
  let state: 'whole' | 'held' | 'cut' = 'whole'
  let muting: string | undefined

  const server = createServer((near) => {
    if (state === 'cut') return near.destroy()
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    const pair = { near, far, listens: false, isMute: false }
    pairs.add(pair)
    near.on('data', (bytes) => {
      pair.listens ||= bytes.includes('sallyport-listen')
      // As it stands in the message: each text ends with a zero.
      pair.isMute ||= muting !== undefined && bytes.includes(`\0${muting}\0`)
      if (!(pair.listens && state === 'held')) far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (!pair.isMute && !(pair.listens && state === 'held')) near.write(bytes)
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => {
        other.destroy()
        pairs.delete(pair)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = () => {
    for (const { near, far } of pairs) for (const end of [near, far]) end.destroy()
  }
  after(() => {
    server.close()
    cutAll()
  })
  const address = server.address()
  return {
    target: { ...target, host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0 },
    hold: () => {
      state = 'held'
    },
    muteFrom: (statement) => {
      muting = statement
    },
    cut: () => {
      state = 'cut'
      cutAll()
    },
    mend: () => {
      state = 'whole'
      muting = undefined
    },
  }
}
