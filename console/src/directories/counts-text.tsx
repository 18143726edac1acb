import type { ReactNode } from 'react'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Counted, type Counts, countedOf } from './run.ts'

type CountsTextProps = {
  counts: Counts
  /** They say what would happen. */
  isPlan: boolean
}

/** What a reading came to, in words. */
export function CountsText({ counts, isPlan }: CountsTextProps): ReactNode {
  const words = useSetUpWords().directories.runs
  const { people, groups } = countedOf(counts)
  const listed = (counted: [Counted, number][]) => counted.map(([name, count]) => words.counts[name](count)).join(', ')
  const ofPeople =
    people.length === 0 ? words.peopleAlone(counts.people) : `${words.people(counts.people)} ${listed(people)}.`
  const ofGroups =
    groups.length === 0 ? words.groupsAlone(counts.groups) : `${words.groups(counts.groups)} ${listed(groups)}.`
  const isNothing = people.length + groups.length === 0
  return (
    <div className="sound-width">
      {isPlan && !isNothing && <p className="text-text-2">{words.wouldBe}</p>}
      <p>
        {ofPeople} {(counts.groups > 0 || groups.length > 0) && ofGroups} {isNothing && words.nothing}
      </p>
    </div>
  )
}
