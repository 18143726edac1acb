import { hostname } from 'node:os'
import type { Database } from '../db/transaction.ts'
import { newId } from '../kernel/id.ts'
import {
  forgetOldProcesses,
  keepPresent,
  type OtherProcess,
  otherProcesses,
  type PresentProcess,
} from './process-store.ts'

/** What the database knows of the running processes of the service. */
export type Presence = {
  /** Writes that this process is there. @throws what keeps the database from taking the write */
  beat(): Promise<void>
  /** The other processes that share the database. */
  others(): Promise<OtherProcess[]>
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
  }
}
