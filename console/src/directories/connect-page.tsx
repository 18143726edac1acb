import { type ReactNode, useState } from 'react'
import { maySeeConnections, useMe } from '../me/me.ts'
import { Choice } from '../parts/choice.tsx'
import { Card, Page } from '../parts/page.tsx'
import { WithSetUpWords } from '../start/with-set-up-words.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { BackLink } from './back-link.tsx'
import { CenterForm } from './center-form.tsx'
import type { Way } from './directory.ts'
import { PushForm } from './push-form.tsx'
import { ReadForm } from './read-form.tsx'
import { mayConnect, maySync } from './rights.ts'

/** Connects a directory. */
export function ConnectPage(): ReactNode {
  return (
    <WithSetUpWords>
      <Connect />
    </WithSetUpWords>
  )
}

function Connect(): ReactNode {
  const { directories } = useSetUpWords()
  const words = directories.connect
  const me = useMe()
  const [way, choose] = useState<Way>('push')
  const ways: readonly Way[] = [
    'push',
    ...(maySync(me) ? (['ldap', 'scim'] as const) : []),
    ...(maySync(me) && maySeeConnections(me) ? (['center'] as const) : []),
  ]
  return (
    <Page title={words.title}>
      <div className="grid max-w-[800px] gap-4">
        <BackLink to="/directories">{directories.title}</BackLink>
        <Card className="grid gap-6">
          {mayConnect(me) ? (
            <>
              <Choice
                label={words.how}
                value={way}
                options={ways.map((value) => ({ value, text: words.ways[value] }))}
                onChange={(value) => choose(ways.find((one) => one === value) ?? 'push')}
              />
              <p className="sound-width text-text-2">{words.means[way]}</p>
              {way === 'push' && <PushForm />}
              {way === 'center' && <CenterForm />}
              {(way === 'ldap' || way === 'scim') && <ReadForm key={way} way={way} />}
            </>
          ) : (
            <p className="text-text-2">{words.noRight}</p>
          )}
        </Card>
      </div>
    </Page>
  )
}
