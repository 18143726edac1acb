import type { MailPeer } from '../support/mail-peer.ts'
import type { Query } from './acknowledged.ts'
import type { Fault } from './consistency.ts'

/** The events that a company's channel sends: one at each end of a grant's life. */
export const mailedEvents = ['request.created', 'grant.activated', 'grant.expired'] as const

/** In flight of one company at once: a delivery to its one mailbox, and mails of notifications. */
const maxInFlight = 5

/** The mails already checked: one mail per id, or two if a process was killed in between. */
export function openMails(query: Query, { taken }: MailPeer) {
  const copies = new Map<string, number>()
  let read = 0
  return {
    /** Compares the deliveries and the mails of notifications with the mails that the server has. `kills`: since the last call. */
    async findFaults(kills: number): Promise<Fault[]> {
      let twice = 0
      for (; read < taken.length; read += 1) {
        const id = /^Message-ID: <([0-9a-f-]{36})[.@]/im.exec(taken[read]?.raw ?? '')?.[1] ?? 'none'
        const count = copies.get(id) ?? 0
        copies.set(id, count + 1)
        if (count > 0) twice += 1
      }
      const rows = await query<{ id: string }>(`select id from delivery where status = 'delivered'
        union all select id from notification_mail where state = 'sent'`)
      const lost = rows.filter(({ id }) => !copies.has(id))
      return [
        ...lost.map(
          ({ id }): Fault => ({
            kind: 'lost',
            what: `the mail ${id} is delivered, and the mail server does not have it`,
          }),
        ),
        ...(twice > kills * maxInFlight
          ? [{ kind: 'doubled', what: `${twice} mails came again after ${kills} kills` } as const]
          : []),
      ]
    },
  }
}
