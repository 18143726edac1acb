import { createRoot } from 'react-dom/client'
import './styles.css'

const place = document.getElementById('console')
if (place !== null) createRoot(place).render(<p>Sallyport</p>)
