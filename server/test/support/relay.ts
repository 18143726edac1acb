import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

/** What stands between browsers and a service, as a network does, and can be cut. */
export type Relay = {
  /** Closes every connection, and refuses new ones. */
  cut(): void
  repair(): void
}

/** Relays each connection to `port` of this machine to the service at `base_url`. It is closed when the file's tests are done. */
export async function openRelay(port: number, base_url: string): Promise<Relay> {
  const target = Number(new URL(base_url).port)
  const ends = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(one)
      one.pipe(other)
      one.on('error', () => undefined)
      one.on('close', () => {
        ends.delete(one)
        other.destroy()
      })
    }
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    for (const end of ends) end.destroy()
  }
  after(() => {
    cut()
    server.close()
  })
  return {
    cut,
    repair() {
      isCut = false
    },
  }
}
