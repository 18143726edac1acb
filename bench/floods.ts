import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { spread } from './ends.ts'
import { meanwhile } from './meanwhile.ts'
import { startService } from './sallyport.ts'

/** A flood: begins, and returns how to end it. */
type Flood = (port: number, path: string) => () => void

const paths = ['/openapi.json', '/docs/json', '/docs/static/swagger-ui-bundle.js']

/** Callers without a credential, who request much and read it all or almost nothing; and the latency for others meanwhile. */
export const floods: Bench = {
  summary: 'floods of callers without a credential: the latency of `/livez` meanwhile, and the memory',
  async run({ seconds, isMiniature }, say) {
    const duration = isMiniature ? 1_000 : seconds * 5_000
    const rows: string[][] = []
    for (const [name, flood] of Object.entries({ pipelined, 'slow readers': slowReaders })) {
      for (const path of paths) {
        say(`${name}: ${path}`)
        rows.push([`${name}: \`${path}\``, ...(await measure(flood, path, duration))])
      }
    }
    return {
      columns: ['ms of `/livez`', 'p50', 'p90', 'p99', 'max', 'count', 'MB before', 'MB at most', 'ratio'],
      rows,
      notes: [
        'Each flood has a service of its own. Required: `/livez` answers within 1 s, and memory at most doubles.',
      ],
    }
  },
}

async function measure(flood: Flood, path: string, duration: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn', LIMIT_BY_SOURCE: 'off' })
  const isAlive = async () => {
    const reply = await fetch(`${service.base_url}/livez`)
    if (!reply.ok) throw new Error(`/livez answered ${reply.status}`)
  }
  try {
    // Each form of the document is made for its first caller.
    for (const encoding of ['identity', 'gzip'])
      await fetch(service.base_url + path, { headers: { 'accept-encoding': encoding } }).then((reply) => reply.text())
    await meanwhile(isAlive, pause(duration / 5))
    const before = memoryOf(service.pid)
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, memoryOf(service.pid))
    }, 250)
    const end = flood(service.port, path)
    const took = await meanwhile(isAlive, pause(duration))
    clearInterval(watching)
    end()
    return [...spread(took), before.toFixed(0), most.toFixed(0), (most / before).toFixed(2)]
  } finally {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Resident memory of a process, in MB. */
function memoryOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
}

function pipelined(port: number, path: string): () => void {
  let isOver = false
  const sockets = new Set<Socket>()
  const again = async () => {
    while (!isOver) {
      const socket = open(port, path, 800)
      sockets.add(socket)
      await once(socket.resume(), 'close')
      sockets.delete(socket)
    }
  }
  for (let n = 0; n < 8; n += 1) again().catch(() => undefined)
  return () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
  }
}

function slowReaders(port: number, path: string): () => void {
  const sockets = Array.from({ length: 30 }, () => open(port, path, 20).pause())
  const sip = setInterval(() => {
    for (const socket of sockets) socket.read(8)
  }, 5_000)
  return () => {
    clearInterval(sip)
    for (const socket of sockets) socket.destroy()
  }
}

function open(port: number, path: string, requests: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(requests))
  return socket
}
