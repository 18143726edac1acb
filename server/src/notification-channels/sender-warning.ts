import { type Static, Type } from 'typebox'
import { OneOf } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { senderOf } from '../mail/sender.ts'
import { readSenders } from '../mail/sender-store.ts'
import { EmailChannel } from './email-channel.ts'

const SenderWarning = Type.Object(
  {
    code: OneOf(['sender_not_allowed'], {
      description: 'mails come from the sender of this service, and replies go to the address that the channel names',
    }),
    message: Type.String({ description: 'the warning, as a sentence' }),
  },
  { title: 'SenderWarning' },
)
type SenderWarning = Static<typeof SenderWarning>

/** An e-mail channel as its creation and its change return it. */
export const SavedEmailChannel = Type.Object(
  {
    ...EmailChannel.properties,
    warnings: Type.Optional(Type.Array(SenderWarning, { description: 'absent where there are none' })),
  },
  { title: 'SavedEmailChannel' },
)
export type SavedEmailChannel = Static<typeof SavedEmailChannel>

/** The channel, with a warning where the operator has not allowed its sender: this is else seen only in the mails. */
export async function withSenderWarning(ctx: Ctx, channel: EmailChannel): Promise<SavedEmailChannel> {
  const { from_address } = channel.config
  if (from_address === undefined) return channel
  const { domains } = await readSenders(ctx.tx)
  if (senderOf(from_address, domains, ctx.mail_from).from === from_address) return channel
  const message =
    `mails will come from ${ctx.mail_from}, and replies will go to ${from_address}: ` +
    'the operator of this service has not allowed its domain for this tenant (`npm run admin -- mail-domain add`)'
  return { ...channel, warnings: [{ code: 'sender_not_allowed', message }] }
}
