import { useQuery } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMe } from '../me/me.ts'
import { buttonClass } from '../parts/button.tsx'
import { useWords } from '../words/words.ts'
import { noteOpening } from './opened-here.ts'
import { addressAs, standIn } from './stand-in.ts'
import { rehearsalQuery } from './stand-in-calls.ts'

/** For the owner of a rehearsal: the way to decide a request as a colleague. */
export function ContinueAs({ requestId }: { requestId: string }): ReactNode {
  const words = useWords().rehearsal
  const me = useMe()
  const isOffered = me.is_owner && me.tenant.mode === 'rehearsal' && standIn === undefined
  const { data } = useQuery({ ...rehearsalQuery, enabled: isOffered })
  const colleague = data?.people.findLast(({ active }) => active)
  if (!isOffered || colleague === undefined) return null
  return (
    <a
      href={addressAs(colleague.id, `/requests/${requestId}`)}
      target="_blank"
      rel="noopener"
      onClick={() => noteOpening(colleague.id)}
      className={`${buttonClass('outline')} h-auto! min-h-8 justify-self-start py-1 whitespace-normal!`}
    >
      {words.continueAs(colleague.name)}
      <ExternalLink size={16} strokeWidth={1.75} aria-hidden="true" />
    </a>
  )
}
