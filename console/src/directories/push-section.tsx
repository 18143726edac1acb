import { type ReactNode, useState } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { useMe } from '../me/me.ts'
import { Choice } from '../parts/choice.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Directory, entraAddress, scimAddress } from './directory.ts'
import { Entered } from './entered.tsx'
import { KeyOnce } from './key-once.tsx'
import { keepKey, useKey } from './key-queries.ts'
import { Keys } from './keys.tsx'
import { ManyLeave } from './many-leave.tsx'
import { mayConnect, maySeeKeys } from './rights.ts'

const services = ['entra', 'okta', 'other'] as const

/** What to enter at a directory that pushes: the address, and the key while it is shown. */
export function PushSection({ directory: tagged }: { directory: Tagged<Directory> }): ReactNode {
  const words = useSetUpWords().directories.push
  const me = useMe()
  const directory = tagged.record
  const [service, choose] = useState<(typeof services)[number]>('entra')
  const key = useKey(directory.id)
  const address = scimAddress(location.origin, directory.id)
  const fields = words.fields[service]
  return (
    <Section title={words.title}>
      <Card className="grid gap-6">
        <div className="grid gap-4">
          <Choice
            label={words.at}
            value={service}
            options={services.map((value) => ({ value, text: words.services[value] }))}
            onChange={(value) => choose(services.find((one) => one === value) ?? 'other')}
          />
          <p>{words.enter}</p>
          <Entered
            name={fields.address}
            text={service === 'entra' ? entraAddress(address) : address}
            copy={words.copyAddress}
          />
          {key !== undefined && (
            <KeyOnce key={key} name={fields.key} text={key} close={() => keepKey(directory.id, undefined)} />
          )}
          <p className="sound-width text-text-2">
            {words.hints[service]} {words.guide}
          </p>
        </div>
        {(maySeeKeys(me) || mayConnect(me)) && <Keys directory={directory} />}
        <ManyLeave directory={tagged} />
      </Card>
    </Section>
  )
}
