import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './app/queries.ts'
import { router } from './app/routes.tsx'
import { Session } from './app/session.tsx'
import { loadPart } from './live/load-part.ts'
import { standIn } from './rehearsal/stand-in.ts'
import './styles.css'

const place = document.getElementById('console')
if (place === null) throw new Error('the page has no #console')
const StandInGate = lazy(async () => ({
  default: (await loadPart(() => import('./rehearsal/stand-in-gate.tsx'))).StandInGate,
}))
const console = (
  <Session>
    <RouterProvider router={router} />
  </Session>
)
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      {standIn === undefined ? (
        console
      ) : (
        <Suspense fallback={null}>
          <StandInGate>{console}</StandInGate>
        </Suspense>
      )}
    </QueryClientProvider>
  </StrictMode>,
)
