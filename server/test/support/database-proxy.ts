import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'
import type { ConnectionTarget } from '../../src/db/client/connect.ts'

/** A proxy in front of a PostgreSQL, which a test can break. */
export type DatabaseProxy = {
  target: ConnectionTarget
  /** The listening connections, also new ones, stay open and transfer nothing from now on: half-open. */
  hold(): void
  /** A connection that prepares this statement from now on receives nothing more; what it sends still arrives. */
  muteFrom(statement: string): void
  /** Closes every connection, and refuses new ones. */
  cut(): void
  /** Lets new connections through again, and held connections continue. */
  repair(): void
}

/** Opens a proxy between a client and its PostgreSQL. It is closed when the file's tests are done. */
export async function openDatabaseProxy(target: ConnectionTarget): Promise<DatabaseProxy> {
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
      // As in the protocol message: a zero byte ends each text.
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
    repair: () => {
      state = 'whole'
      muting = undefined
    },
  }
}
