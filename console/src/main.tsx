import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './app/queries.ts'
import { router } from './app/routes.tsx'
import { Session } from './app/session.tsx'
import './styles.css'

const place = document.getElementById('console')
if (place === null) throw new Error('the page has no #console')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Session>
        <RouterProvider router={router} />
      </Session>
    </QueryClientProvider>
  </StrictMode>,
)
