import type { ReactNode } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { maySeeConnections, useMe } from '../me/me.ts'
import { Card } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { CenterForm } from './center-form.tsx'
import { type Directory, wayOf } from './directory.ts'
import { ReadForm } from './read-form.tsx'
import { mayConnect, maySync } from './rights.ts'

/** How a directory is read, to change it. It is folded: few come for it. */
export function SettingsSection({ directory }: { directory: Tagged<Directory> }): ReactNode {
  const words = useSetUpWords().directories.connect
  const me = useMe()
  const way = wayOf(directory.record)
  const may = mayConnect(me) && maySync(me) && (way !== 'center' || maySeeConnections(me))
  if (way === 'push' || !may) return null
  return (
    <details>
      <summary className="w-fit rounded-control font-semibold">{words.settings}</summary>
      <Card className="mt-3 grid gap-4">
        <p className="sound-width text-text-2">{words.settingsNote}</p>
        {way === 'center' ? (
          <CenterForm key={directory.tag} shown={directory} />
        ) : (
          <ReadForm key={directory.tag} way={way} shown={directory} />
        )}
      </Card>
    </details>
  )
}
