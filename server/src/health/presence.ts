import { hostname } from 'node:os'
import type { Database } from '../db/transaction.ts'
import { newId } from '../kernel/id.ts'
import {
  forgetOldProcesses,
  keepPresent,
  leave,
  type OtherProcess,
  otherProcesses,
  type PresentProcess,
  servedUrl,
} from './process-store.ts'

/** What the database knows of the running processes of the service. */
export type Presence = {
  /** Writes that this process is there. @throws what keeps the database from taking the write */
  beat(): Promise<void>
  /** The other processes that share the database. */
  others(): Promise<OtherProcess[]>
  /** The last of it: a process that was stopped is none of the others at the next start. */
  leave(): Promise<void>
}

/** The address of the service that runs on this database; undefined if none does. An operator's command has not its environment. */
export async function findServedUrl({ service }: Pick<Database, 'service'>): Promise<string | undefined> {
  const [rows] = await service.write([servedUrl()])
  return rows[0]?.public_url
}

/** Makes a process known to those that share its database. Nothing is written before the first beat. */
export function openPresence(
  { service }: Pick<Database, 'service'>,
  process: Pick<PresentProcess, 'version' | 'commit' | 'public_url'>,
): Presence {
  const self = { ...process, id: newId(), host: hostname() }
  let isKnown = false
  return {
    async beat() {
      await service.write(isKnown ? [keepPresent(self)] : [keepPresent(self), forgetOldProcesses()])
      isKnown = true
    },
    async others() {
      const [others] = await service.write([otherProcesses(self.id)])
      return others
    },
    async leave() {
      await service.write([leave(self.id)])
    },
  }
}
