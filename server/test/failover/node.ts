import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConnectionTarget } from '../../src/db/client/connect.ts'
import { freePort } from '../support/free-port.ts'
import { letThemWrite, type Programs, signalAll, startIn } from './programs.ts'

/** What Patroni says of a node. */
type Told = { role?: string; state?: string; timeline?: number; sync_standby?: boolean }

/** One Patroni with its PostgreSQL. */
export type ClusterNode = {
  name: string
  port: number
  restPort: number
  /** Past HAProxy, as the superuser. */
  direct: ConnectionTarget
  start(): void
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Whether its Patroni says that it is the primary: HAProxy's question. */
  leads(): Promise<boolean>
  /** Whether its Patroni says that it is the synchronous standby. */
  mayTakeOver(): Promise<boolean>
  /** What its Patroni says of it; undefined: it does not answer. */
  tell(): Promise<Told | undefined>
  /** The end of what its Patroni logged. */
  lastWords(): Promise<string>
}

/** How commits wait for a standby. `strict`: without a standby nothing is committed. */
export type Replication = 'strict' | 'asynchronous'

export const superuser = { user: 'postgres', password: 'superuser' } as const

/** The settings that all nodes share, and that Patroni keeps in etcd. A lost primary is noticed within `ttl`. */
function sharedSettings(replication: Replication) {
  const isSynchronous = replication === 'strict'
  return {
    ttl: 20,
    loop_wait: 2,
    retry_timeout: 3,
    maximum_lag_on_failover: 16 * 1024 * 1024,
    synchronous_mode: isSynchronous,
    synchronous_mode_strict: isSynchronous,
    postgresql: {
      use_pg_rewind: true,
      use_slots: true,
      parameters: {
        max_connections: 200,
        max_wal_senders: 10,
        wal_keep_size: '256MB',
        // Killed processes lose nothing that the system's cache has; only a power cut would, and none is tried here.
        fsync: 'off',
        // As in the tests of one server: plans are not compiled.
        jit: 'off',
      },
    },
  }
}

/** Prepares a node in a folder of its own; `start` starts it. The first to start makes the cluster, and the others copy it. */
export async function prepareNode(
  home: string,
  name: string,
  { programs, etcdPort, replication }: { programs: Programs; etcdPort: number; replication: Replication },
): Promise<ClusterNode> {
  const folder = join(home, name)
  mkdirSync(folder)
  letThemWrite(folder)
  const [port, restPort] = [await freePort(), await freePort()]
  const at = (one: number) => `127.0.0.1:${one}`
  const settings = {
    scope: 'sallyport-failover',
    name,
    restapi: { listen: at(restPort), connect_address: at(restPort) },
    // Its driver for version 3 renews the leader's key without a look at whose it is: a primary that stood still can take it back.
    etcd: { host: at(etcdPort) },
    bootstrap: {
      dcs: sharedSettings(replication),
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums', 'no-sync'],
    },
    postgresql: {
      listen: at(port),
      connect_address: at(port),
      data_dir: join(folder, 'data'),
      bin_dir: programs.postgres,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: superuser.user, password: superuser.password },
        replication: { username: 'replicator', password: 'replicator' },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 md5', 'host replication all 127.0.0.1/32 md5'],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  }
  const path = join(folder, 'patroni.json')
  // Patroni reads YAML, of which JSON is a part.
  writeFileSync(path, JSON.stringify(settings, undefined, 2))
  const log = join(folder, 'patroni.log')
  return {
    name,
    port,
    restPort,
    direct: { host: '127.0.0.1', port, ...superuser, database: 'postgres' },
    start: () => void startIn(folder, programs.patroni, [path], log),
    signal: (signal) => signalAll(folder, signal),
    leads: async () => (await askPatroni(restPort, '/primary'))?.ok === true,
    mayTakeOver: async () => (await askPatroni(restPort, '/sync'))?.ok === true,
    tell: async () => (await askPatroni(restPort, '/patroni'))?.body,
    lastWords: async () => (await readFile(log, 'utf8').catch(() => '')).slice(-2_000),
  }
}

async function askPatroni(restPort: number, path: string): Promise<{ ok: boolean; body: Told } | undefined> {
  try {
    const reply = await fetch(`http://127.0.0.1:${restPort}${path}`, { signal: AbortSignal.timeout(2_000) })
    return { ok: reply.ok, body: (await reply.json()) as Told }
  } catch {
    return undefined
  }
}
