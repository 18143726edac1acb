import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { Card } from '../parts/page.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { useBeginRun } from './begin-run.ts'
import { mayConfirm, maySeePeople } from './rights.ts'
import { type Counts, type Run, underWay } from './run.ts'
import type { View } from './view.ts'

type RemovalsCardProps = { run: Run; runs: readonly Run[] }

/** So many would go that a person has to say that they are right. */
export function RemovalsCard({ run, runs }: RemovalsCardProps): ReactNode {
  const words = useSetUpWords().directories.removals
  const me = useMe()
  const { counts, error } = run
  if (counts === null) return null
  const { disabled, groups_emptied } = counts
  return (
    <section aria-label={titleOf(counts, words)}>
      <Card className="grid gap-4">
        <div className="grid gap-2 rounded-control bg-wait-tint p-3">
          <h2 className="text-sentence font-semibold text-wait">{titleOf(counts, words)}</h2>
          {error !== null && (
            <p className="sound-width wrap-anywhere">
              <EnglishText>{sentenceOf(error)}</EnglishText>
            </p>
          )}
        </div>
        <p className="sound-width">{words.unchanged}</p>
        {maySeePeople(me) && (
          <ul className="flex flex-wrap gap-x-4 gap-y-1">
            {disabled > 0 && (
              <>
                <See run={run} change="absent">
                  {words.absent}
                </See>
                <See run={run} change="disable">
                  {words.disabled}
                </See>
              </>
            )}
            {groups_emptied > 0 && (
              <See run={run} change="empty">
                {words.emptied}
              </See>
            )}
          </ul>
        )}
        {!mayConfirm(me) && <p className="text-text-2">{words.noRight}</p>}
        {mayConfirm(me) && underWay(runs) === undefined && <Let run={run} counts={counts} />}
      </Card>
    </section>
  )
}

type Words = ReturnType<typeof useSetUpWords>['directories']['removals']

const titleOf = ({ disabled, groups_emptied }: Counts, words: Words): string =>
  disabled > 0 ? words.title(disabled) : words.groupsTitle(groups_emptied)

type SeeProps = { run: Run; change: View['change']; children: string }

function See({ run: { id: run, identity_provider_id: id }, change, children }: SeeProps): ReactNode {
  return (
    <li>
      <Link
        to="/directories/$id"
        params={{ id }}
        search={{ run, change }}
        className="inline-flex min-h-6 items-center rounded-control text-accent underline touch:min-h-11"
      >
        {children}
      </Link>
    </li>
  )
}

/** Lets them go, after a question that says how many, and what ends. */
function Let({ run, counts: { disabled, groups_emptied } }: { run: Run; counts: Counts }): ReactNode {
  const words = useSetUpWords().directories.removals
  const act = useAct()
  const [isAsking, ask] = useState(false)
  const { id: confirm_removals_of, identity_provider_id: id } = run
  const begin = useBeginRun(id)
  const go = () => act.run((key) => begin({ confirm_removals_of }, key), confirm_removals_of)
  const label = disabled > 0 ? words.act(disabled) : words.groupsAct(groups_emptied)
  return (
    <div className="grid justify-items-start gap-3">
      <Button isPending={act.isPending} onClick={() => ask(true)}>
        {label}
      </Button>
      <ActProblem act={act} />
      {isAsking && (
        <Confirm
          title={disabled > 0 ? words.question(disabled) : words.groupsQuestion(groups_emptied)}
          consequences={words.consequences(disabled, groups_emptied)}
          act={label}
          close={() => ask(false)}
          // What it is refused for stands below the button, where a person can sign in again.
          run={go}
        />
      )}
    </div>
  )
}
