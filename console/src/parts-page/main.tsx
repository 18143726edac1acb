import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { PartsPage } from './parts-page.tsx'
import '../styles.css'

const place = document.getElementById('parts')
if (place === null) throw new Error('the page has no #parts')
createRoot(place).render(
  <StrictMode>
    <PartsPage />
  </StrictMode>,
)
