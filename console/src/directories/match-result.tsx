import type { ReactNode } from 'react'
import { EnglishText } from '../parts/english-text.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Exception, exceptionsOf, type Preflight, saidCounts } from './preflight.ts'

/** More are of no use on a page. */
const maxShown = 100

/** What a preflight says: "287 people: 281 known already, 6 to settle", whom a target does not have, and at whom to look. */
export function MatchResult({ found }: { found: Preflight }): ReactNode {
  const words = useSetUpWords().directories.match
  const { counts, targets } = found
  const exceptions = exceptionsOf(found)
  return (
    <>
      <p className="font-medium">
        {words.people(counts.people)}{' '}
        {saidCounts(counts)
          .map(([name, count]) => words.counts[name](count))
          .join(', ')}
        .
      </p>
      {targets.map(({ provisioner_id, name, not_found }) => (
        <p key={provisioner_id} className="wrap-anywhere">
          {not_found === 0 ? words.allFound(name) : words.notFound(not_found, name)}
        </p>
      ))}
      {exceptions.length > 0 && (
        <div className="grid gap-2">
          <h3 className="text-body font-semibold">{words.exceptions}</h3>
          <ul aria-label={words.exceptions} className="divide-y divide-line border-y border-line">
            {exceptions.slice(0, maxShown).map((person) => (
              <ExceptionItem key={person.at} person={person} targets={targets} />
            ))}
          </ul>
          {exceptions.length > maxShown && <p className="text-text-2">{words.more(exceptions.length - maxShown)}</p>}
        </div>
      )}
    </>
  )
}

type ExceptionProps = { person: Exception; targets: Preflight['targets'] }

function ExceptionItem({ person, targets }: ExceptionProps): ReactNode {
  const words = useSetUpWords().directories.match
  const { user_name, match, message, not_found_at } = person
  const missing = targets.filter(({ provisioner_id }) => not_found_at.includes(provisioner_id)).map(({ name }) => name)
  return (
    <li className="grid gap-x-4 py-2 sm:grid-cols-[1fr_1.5fr]">
      <bdi className="min-w-0 font-medium wrap-anywhere">{user_name}</bdi>
      <div className="min-w-0 text-text-2 wrap-anywhere">
        {match === 'settle' && <p>{words.kinds.settle}</p>}
        {match === 'left_out' && <p>{words.kinds.left_out}</p>}
        {message !== null && (
          <p>
            <EnglishText>{message}</EnglishText>
          </p>
        )}
        {missing.length > 0 && <p>{words.kinds.missing(missing.join(', '))}</p>}
      </div>
    </li>
  )
}
