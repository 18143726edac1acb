import type { DeliveredEvent, Subscriber } from '../../events/deliver.ts'
import { filterableEvents } from '../channel-fields.ts'
import { insertDeliveries, wakeQueues } from './fan-out-store.ts'

/** Makes of each event the deliveries of the channels that want it: whoever caused the event does not wait for that. */
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
