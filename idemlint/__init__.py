"""idemlint tells what breaks when a background task runs twice."""
