import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { MadeInvitation } from './queries.ts'

export type Made = { invitation: MadeInvitation; isAgain: boolean }

/** The link of an invitation, which nobody can read again. */
export function LinkOnce({ made: { invitation, isAgain }, close }: { made: Made; close: () => void }): ReactNode {
  const words = useSetUpWords().people.made
  const formats = useFormats()
  const title = useRef<HTMLHeadingElement>(null)
  const { name, url, expires_at } = invitation
  // It is news, and stands elsewhere than the button that made it.
  useEffect(() => title.current?.focus(), [])
  return (
    <div className="grid gap-3 rounded-control bg-ok-tint p-4">
      <h3 ref={title} tabIndex={-1} className="font-semibold text-ok wrap-anywhere">
        {isAgain ? words.again(name) : words.title(name)}
      </h3>
      <p>
        <span className="sr-only">{words.link}: </span>
        <span
          data-edge
          className="block rounded-control bg-surface px-3 py-2 font-mono text-meta break-all select-all touch:text-body"
        >
          {url}
        </span>
      </p>
      <p className="sound-width">{words.once(formats.moment(expires_at, now()))}</p>
      <MailLine invitation={invitation} />
      <div className="flex flex-wrap gap-2">
        <Copy text={url} label={words.copy} look="outline" />
        <Button look="quiet" onClick={close}>
          {words.close}
        </Button>
      </div>
    </div>
  )
}

function MailLine({ invitation: { email, mail } }: { invitation: MadeInvitation }): ReactNode {
  const words = useSetUpWords().people.made.mail
  if (mail.state === 'pending' || mail.state === 'sent')
    return <p className="sound-width wrap-anywhere">{words[mail.state](email)}</p>
  if (mail.state === 'not_set_up' || mail.error === undefined) return <p className="sound-width">{words.not_set_up}</p>
  return (
    <p className="sound-width wrap-anywhere">
      {words.failed} <EnglishText>{mail.error}.</EnglishText>
    </p>
  )
}
