import type { DeliveredEvent, Subscriber } from '../../events/deliver.ts'
import { filterableEvents } from '../channel-fields.ts'
import { insertDeliveries, wakeQueues } from './fan-out-store.ts'

/** Makes the deliveries of each event for the channels that want it. The caller that caused the event does not wait for this. */
export const notifyChannels: Subscriber = {
  name: 'channels',
  on: filterableEvents,
  async handle({ tx }, events) {
    const changed = events.filter(isOfChannel).map(({ subject_id }) => subject_id)
    if (changed.length > 0) await wakeQueues(tx, changed)
    await insertDeliveries(
      tx,
      events.map(({ id }) => id),
    )
  },
}

function isOfChannel({ subject_type }: DeliveredEvent): boolean {
  return subject_type === 'notification_channel'
}
