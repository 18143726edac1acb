import { notifyPeople } from '../../src/notifications/notify-people.subscriber.ts'
import { whoMayDecideEach } from '../../src/requests/possible-approvers.flow.ts'
import { deliverAll } from './deliver.ts'
import type { House } from './house.ts'
import { untilEventsSettle } from './settled.ts'

/** Writes the notifications of all events so far, with their mails where mail is set up. */
export async function notifyAll(house: House, mails = false): Promise<void> {
  await untilEventsSettle(house)
  await deliverAll(house.database, notifyPeople({ whoMayDecideEach, mails }), (_failed, error) => {
    throw error
  })
}
