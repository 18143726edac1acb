import type { ReactNode } from 'react'
import { endSession } from '../app/sign-out.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords } from '../words/words.ts'

/** Ends the session of the colleague, and this window. */
export function LeaveStandIn({ className = '' }: { className?: string }): ReactNode {
  const words = useWords().rehearsal
  const act = useAct()
  const leave = () =>
    act.run(async () => {
      await endSession()
      window.close()
      // A window that no click in the console opened does not close.
      location.assign(import.meta.env.BASE_URL)
    })
  return (
    <div className={`grid gap-2 ${className}`}>
      <Button isPending={act.isPending} onClick={leave}>
        {words.leave}
      </Button>
      {act.error !== undefined && <Problem error={act.error} />}
    </div>
  )
}
