import assert from 'node:assert/strict'
import { dueWork, type Post } from '../../src/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { type DueWork, startDueWork } from '../../src/jobs/work-list.ts'
import { openMailer } from '../../src/mail/mailer.flow.ts'
import type { Carrier } from '../../src/notification-channels/carrier.ts'
import type { Driver } from '../../src/provisioners/driver.ts'
import { rootKeyOf, rootKeysOf } from '../../src/secrets/root-key.ts'
import { openSealer } from '../../src/secrets/sealer.ts'
import type { TestDatabase } from './database.ts'
import { driversWith, testDrivers } from './drivers.ts'
import { noEgress } from './no-egress.ts'

/** Sends nothing. */
const closed: Carrier = {
  maxMs: 0,
  carry: async () => ({ kind: 'try_again', why: 'nothing leaves the house', holds_up: 'all' }),
  close: async () => undefined,
}
export const noPost: Post = {
  carriers: { email: closed, webhook: closed },
  leaving: new AbortController().signal,
  mailer: openMailer(readConfig({})),
  sealer: openSealer(rootKeysOf([rootKeyOf(Buffer.alloc(32, 7))])),
  public_url: 'http://localhost:8080',
}

/**
 * Workers that do due work as the service's own do; an error in one fails the test, unless the test takes it out of
 * `faults`. They stop before the database is dropped.
 */
export function startWorkers(
  { database, atEnd }: TestDatabase,
  works: readonly DueWork[] = dueWork(testDrivers(), noPost, noEgress),
) {
  const faults: unknown[] = []
  const work = startDueWork(
    { takes: database, others: database },
    works,
    4,
    (error) => faults.push(error),
    (_table, _item, error) => faults.push(error),
  )
  const waking = setInterval(() => work.wake(), 100)
  const stop = async () => {
    clearInterval(waking)
    await work.stop()
    assert.deepEqual(faults, [])
  }
  atEnd(stop)
  return { stop, faults }
}

/** The same on a sandbox in which some functions are replaced. */
export function startWorkersWith(db: TestDatabase, change: (sandbox: Driver) => Partial<Driver>) {
  return startWorkers(db, dueWork(driversWith(change), noPost, noEgress))
}
