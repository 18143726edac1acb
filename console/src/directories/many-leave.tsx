import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { ActProblem } from '../me/act-problem.tsx'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Choice } from '../parts/choice.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Directory, guardOf, guards } from './directory.ts'
import { changeDirectory } from './queries.ts'
import { mayChange } from './rights.ts'

/** What happens when a directory that pushes removes many at once. */
export function ManyLeave({ directory }: { directory: Tagged<Directory> }): ReactNode {
  const words = useSetUpWords().directories.push.many
  const queries = useQueryClient()
  const may = mayChange(useMe())
  const act = useAct()
  const { config } = directory.record
  const guard = guardOf(directory.record)
  const save = (mass_removals: (typeof guards)[number]) =>
    act.run(async () => {
      try {
        await changeDirectory(directory, { config: { ...config, mass_removals } })
        toast(words.saved)
      } finally {
        await queries.invalidateQueries({ queryKey: ['identity_provider'] })
      }
    }, mass_removals)
  return (
    <div className="grid gap-3 border-t border-line pt-4">
      <p className="sound-width text-text-2">{words.intro}</p>
      {may ? (
        <Choice
          label={words.title}
          value={guard}
          options={guards.map((value) => ({ value, text: words.ways[value] }))}
          onChange={(value) => save(guards.find((one) => one === value) ?? guard)}
        />
      ) : (
        <p>{words.ways[guard]}</p>
      )}
      <ActProblem act={act} />
    </div>
  )
}
