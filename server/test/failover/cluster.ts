import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAlone } from '../../src/db/client/connect.ts'
import { blocksOf } from '../guides/blocks.ts'
import { freePort } from '../support/free-port.ts'
import type { TestServer } from '../support/server.ts'
import { until } from '../support/wait.ts'
import { type ClusterNode, prepareNode, type Replication, superuser } from './node.ts'
import { type Probe, probeTable, startProbe } from './probe.ts'
import { findPrograms, letThemWrite, type Programs, signalAll, startIn } from './programs.ts'

/** What a change of the primary did, as a writer through HAProxy saw it. */
export type Failover = {
  from: string
  to: string
  secondsWithoutWrites: number
  /** When the new primary acknowledged its first write: milliseconds of the machine's clock, which is the database's too. */
  writesAgainAt: number
  /** Acknowledged writes that are lost, and those that the old primary acknowledged after it was replaced. */
  faults: string[]
}

/** Nodes of PostgreSQL under Patroni, which keeps its state in etcd, behind HAProxy, which sends connections to the primary alone. */
export type Cluster = {
  /** HAProxy's address, with the superuser's credentials. */
  server: TestServer
  /** The current primary's name. */
  primary(): Promise<string>
  /** Waits until every standby streams from the primary. */
  untilWhole(): Promise<void>
  /** A planned one, as an operator asks for it. */
  switchover(): Promise<Failover>
  /**
   * Kills the primary's Patroni and all of its PostgreSQL at once; starts them again when another one leads. For `lagSeconds` before, the
   * primary sends its standbys nothing.
   */
  killPrimary(lagSeconds?: number): Promise<Failover>
  /** Stops them until another one leads, and for at least so many seconds; then they continue as if nothing had happened. */
  stopAndContinuePrimary(seconds?: number): Promise<Failover>
  close(): Promise<void>
}

type Options = { nodes?: number; replication?: Replication }

/** A new copy of a node on a busy machine, or a failover with its timeouts, takes less. */
const limitMs = 180_000

/**
 * Starts a cluster on free ports, in a folder of its own. It depends on no service of the system; `close` ends its processes and removes the
 * folder.
 * @throws Error with the line to type, if the programs are not installed.
 */
export async function openCluster({ nodes: count = 3, replication = 'strict' }: Options = {}): Promise<Cluster> {
  const programs = findPrograms()
  const home = mkdtempSync(join(tmpdir(), 'ha-'))
  chmodSync(home, 0o711)
  letThemWrite(home)
  const close = async () => {
    await signalAll(home, 'SIGKILL')
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const etcdPort = await startEtcd(home, programs)
    const nodes: ClusterNode[] = []
    while (nodes.length < count)
      nodes.push(await prepareNode(home, `node${nodes.length + 1}`, { programs, etcdPort, replication }))
    for (const node of nodes) node.start()
    const port = await startHaproxy(home, programs, nodes)
    const server = { host: '127.0.0.1', port, ...superuser }
    const parts = { nodes, server, replication }
    await untilWhole(parts)
    await ask(server, probeTable)
    return { ...methods(parts), server, close }
  } catch (error) {
    await close()
    throw error
  }
}

type Parts = { nodes: readonly ClusterNode[]; server: TestServer; replication: Replication }

function methods(parts: Parts): Omit<Cluster, 'server' | 'close'> {
  return {
    primary: async () => (await findPrimary(parts)).name,
    untilWhole: () => untilWhole(parts),
    switchover: () => failOver(parts, (old) => askForSwitchover(parts, old)),
    killPrimary: (lagSeconds = 0) =>
      failOver(
        parts,
        async (old) => {
          if (lagSeconds > 0) await sendNothing(old, lagSeconds)
          await old.signal('SIGKILL')
        },
        async (old) => {
          old.start()
          return []
        },
      ),
    stopAndContinuePrimary: (seconds = 0) => {
      let stoppedAt = 0
      return failOver(
        parts,
        async (old) => {
          stoppedAt = Date.now()
          await old.signal('SIGSTOP')
        },
        async (old) => {
          await pause(Math.max(0, stoppedAt + seconds * 1_000 - Date.now()))
          return continueOld(old)
        },
      )
    },
  }
}

/** Causes a failover, and returns once another primary accepts writes through HAProxy and `afterwards` is done. */
async function failOver(
  parts: Parts,
  cause: (old: ClusterNode) => Promise<unknown>,
  afterwards: (old: ClusterNode) => Promise<string[]> = async () => [],
): Promise<Failover> {
  await untilWhole(parts)
  const old = await findPrimary(parts)
  const probe = startProbe({ ...parts.server, database: 'postgres' })
  try {
    await until('writes are acknowledged', async () => probe.acknowledged.length >= 3)
    const began = Date.now()
    await cause(old)
    const first = await until(
      `another primary than ${old.name} accepts writes`,
      async () => probe.firstElsewhere(old.port, began),
      limitMs,
    ).catch(async (error: unknown) => {
      const words = await Promise.all(parts.nodes.map(async (node) => `${node.name}:\n${await node.lastWords()}`))
      throw new Error(`${String(error)}\n${words.join('\n')}`)
    })
    const faults = await afterwards(old)
    await probe.stop()
    const late = probe.acknowledged.filter(({ port, at }) => port === old.port && at > first.at)
    if (late.length > 0) faults.push(`HAProxy sent ${late.length} writes to ${old.name} after it was replaced`)
    return {
      from: old.name,
      to: parts.nodes.find(({ port }) => port === first.port)?.name ?? 'unknown',
      secondsWithoutWrites: probe.longestGap(),
      writesAgainAt: first.at,
      faults: [...faults, ...(await lostWrites(parts, probe))],
    }
  } finally {
    await probe.stop()
  }
}

/** The database itself keeps what it acknowledged. */
async function lostWrites({ server }: Parts, { acknowledged }: Probe): Promise<string[]> {
  const kept = await ask<{ id: string }>(server, 'select id from probe')
  const ids = new Set(kept.map(({ id }) => Number(id)))
  const lost = acknowledged.filter(({ id }) => !ids.has(id))
  return lost.length === 0 ? [] : [`the database lost ${lost.length} of ${acknowledged.length} acknowledged writes`]
}

async function askForSwitchover(parts: Parts, old: ClusterNode): Promise<void> {
  // Refused while no standby may take over yet, such as right after another failover.
  await until(
    'Patroni accepts a switchover',
    async () => {
      const body = JSON.stringify({ leader: old.name })
      const reply = await fetch(`http://127.0.0.1:${old.restPort}/switchover`, { method: 'POST', body })
      await reply.text()
      return reply.ok || (await findPrimary(parts)).name !== old.name
    },
    limitMs,
  )
}

/** Stops the processes that send the standbys what is written. */
async function sendNothing(old: ClusterNode, seconds: number): Promise<void> {
  const client = await connectAlone(old.direct)
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_replication')
  await client.end()
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP')
  await pause(seconds * 1_000)
}

/** The old primary continues: until Patroni has it follow the new one, whatever it acknowledges past HAProxy is a fault. */
async function continueOld(old: ClusterNode): Promise<string[]> {
  const probe = startProbe(old.direct)
  await old.signal('SIGCONT')
  try {
    await until(`${old.name} follows`, async () => (await old.tell())?.role === 'replica', limitMs)
  } finally {
    await probe.stop()
  }
  const { length } = probe.acknowledged
  return length === 0 ? [] : [`${old.name} acknowledged ${length} writes after it was replaced`]
}

async function findPrimary({ nodes }: Parts): Promise<ClusterNode> {
  return until('one node leads', async () => {
    const leads = await Promise.all(nodes.map((node) => node.leads()))
    const [one, two] = nodes.filter((_, index) => leads[index])
    return two === undefined && one
  })
}

/** In strict replication one standby is also on record as the one that may take over: Patroni notes it seconds after PostgreSQL has it. */
async function untilWhole(parts: Parts): Promise<void> {
  const standbys = parts.nodes.length - 1
  await until(
    'every standby streams from the primary',
    async () => {
      const streaming = await ask(
        parts.server,
        `select from pg_stat_replication where state = 'streaming' and application_name like 'node%'`,
      ).catch(() => [])
      const mayTakeOver = await Promise.all(parts.nodes.map((node) => node.mayTakeOver()))
      const isSafe = parts.replication === 'asynchronous' || mayTakeOver.includes(true)
      return streaming.length === standbys && isSafe
    },
    limitMs,
  )
}

async function ask<Row extends Record<string, unknown>>(server: TestServer, text: string): Promise<Row[]> {
  const client = await connectAlone({ ...server, database: 'postgres', query_timeout: 10_000 })
  client.on('error', () => undefined)
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    void client.end().catch(() => undefined)
  }
}

async function startEtcd(home: string, { etcd }: Programs): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
  const args = [
    ...['--name', 'one', '--data-dir', join(home, 'etcd'), '--unsafe-no-fsync', '--logger', 'zap', '--enable-v2'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `one=${peer}`],
  ]
  startIn(home, etcd, args, join(home, 'etcd.log'))
  const isHealthy = async () => (await fetch(`${client}/health`).catch(() => undefined))?.ok
  await until('etcd is healthy', isHealthy, limitMs)
  return port
}

/** HAProxy as the guide sets it up: what operators copy is what is tried. Only the addresses are the cluster's own. */
async function startHaproxy(home: string, { haproxy }: Programs, nodes: readonly ClusterNode[]): Promise<number> {
  const port = await freePort()
  const listen = blocksOf('docs/guides/own-postgresql.md').find(({ words }) => words[0] === 'haproxy')?.text
  if (listen === undefined) throw new Error('docs/guides/own-postgresql.md has no block `text haproxy`')
  const settings = listen.split('\n').filter((line) => !/^ +(?:bind|server) /.test(line))
  const config = [
    ...['global', '  maxconn 500'],
    ...settings,
    `  bind 127.0.0.1:${port}`,
    ...nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`),
  ]
  const path = join(home, 'haproxy.cfg')
  writeFileSync(path, `${config.join('\n')}\n`)
  startIn(home, haproxy, ['-db', '-f', path], join(home, 'haproxy.log'))
  return port
}
