import { project } from '../../vitest.shared.ts';

export default project('core', import.meta.url);
