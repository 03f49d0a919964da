"""Programs for other users: the build folder may lie in a home of mode 0700, or be made with umask 077."""
import os
import shutil


def copy(folder, *paths):
    """Copies the files into the folder, which everybody may look into then; where the first is now."""
    os.chmod(folder, 0o755)
    copies = [shutil.copyfile(path, os.path.join(folder, os.path.basename(path))) for path in paths]
    for path in copies:
        os.chmod(path, 0o755)
    return copies[0]
