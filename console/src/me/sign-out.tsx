import { type ReactNode, use } from 'react'
import { signOut } from '../app/sign-out.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { MeContext } from './me.ts'

/** Ends the session of this browser. */
export function SignOut({ className = '' }: { className?: string }): ReactNode {
  const words = useWords().frame
  const me = use(MeContext)
  const act = useAct()
  return (
    <div className={`grid gap-2 ${className}`}>
      <Button isPending={act.isPending} onClick={() => act.run(() => signOut(me?.id))}>
        {words.signOut}
      </Button>
      <ActProblem act={act} />
    </div>
  )
}
