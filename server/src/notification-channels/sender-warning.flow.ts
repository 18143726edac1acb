import type { Ctx } from '../kernel/context.ts'
import { maySendFrom } from '../mail/sender.ts'
import { readSenders } from '../mail/sender-store.ts'
import type { EmailChannel, SavedEmailChannel } from './email-channel.ts'

/** The channel, with a warning where the operator has not allowed its sender: otherwise it shows only in the mails. */
export async function withSenderWarning(ctx: Ctx, channel: EmailChannel): Promise<SavedEmailChannel> {
  const { from_address } = channel.config
  if (from_address === undefined) return channel
  const { domains } = await readSenders(ctx.tx)
  if (maySendFrom(from_address, domains)) return channel
  const message =
    'the operator of this service has not allowed the domain of `from_address` for this tenant: mails come from the address of ' +
    `the service, and replies go to ${from_address}`
  return { ...channel, warnings: [{ code: 'sender_not_allowed', message }] }
}
